/**
 * The schema subset Google takes in `parameters` and `responseSchema`: its own Schema message, not JSON Schema.
 * `parametersJsonSchema` takes JSON Schema as it is and is not judged here.
 */
import { isObject, type JsonObject } from "./judge.ts";

const FIELDS = new Set(
  [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
  ].concat(
    ["minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering"],
    ["default", "items", "minimum", "maximum"],
  ),
);
const TYPES = new Set(["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"]);

/** The first thing in `schema` that Google's Schema message cannot hold, as one line; `undefined` when there is none. */
export function faultOfSchema(schema: unknown): string | undefined {
  if (!isObject(schema)) return "schema is not an object";
  for (const key in schema) {
    if (!FIELDS.has(key) && schema[key] !== undefined)
      return `schema field ${JSON.stringify(key)} is not in Google's subset`;
  }
  const { type, items, anyOf, properties } = schema;
  if (type === undefined ? anyOf === undefined : typeof type !== "string" || !TYPES.has(type.toUpperCase()))
    return "schema type is not one name";
  if (schema.enum !== undefined && !isTextList(schema.enum)) return "enum is not a list of texts";
  if (items !== undefined) {
    const fault = faultOfSchema(items);
    if (fault !== undefined) return fault;
  }
  if (anyOf !== undefined) {
    if (!Array.isArray(anyOf)) return "anyOf is not a list";
    for (const option of anyOf) {
      const fault = faultOfSchema(option);
      if (fault !== undefined) return fault;
    }
  }
  return properties === undefined && schema.required === undefined ? undefined : faultOfProperties(schema, properties);
}

function faultOfProperties(schema: JsonObject, properties: unknown): string | undefined {
  if (properties !== undefined && !isObject(properties)) return "properties is not an object";
  for (const name in properties) {
    const fault = faultOfSchema(properties[name]);
    if (fault !== undefined) return fault;
  }
  const required = schema.required;
  if (required === undefined) return undefined;
  if (!isTextList(required)) return "required is not a list of texts";
  const missing = required.find((name) => properties === undefined || !Object.hasOwn(properties, name));
  return missing === undefined ? undefined : `required property ${JSON.stringify(missing)} is not defined`;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
