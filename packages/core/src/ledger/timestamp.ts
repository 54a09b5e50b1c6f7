/** Timestamps of entries as ISO 8601 text, without a clock or a time zone. Must not know what the time is. */

const DAY_MS = 86_400_000;

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/**
 * The ISO form of an entry's timestamp: strings as written, epoch milliseconds converted (UTC, whole seconds).
 * `undefined` for what is no time between the years 1970 and 9999.
 */
export function isoTimestamp(timestamp: string | number | undefined): string | undefined {
  if (typeof timestamp === "string") return timestamp === "" ? undefined : timestamp;
  if (
    typeof timestamp !== "number" ||
    !Number.isFinite(timestamp) ||
    timestamp < 0 ||
    timestamp >= 253_402_300_800_000
  ) {
    return undefined;
  }
  const seconds = Math.floor((timestamp % DAY_MS) / 1000);
  // Count days in years that start in March: the leap day is then the last day of its year.
  const days = Math.floor(timestamp / DAY_MS) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const time = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${year}-${two(month)}-${two(day)}T${time}Z`;
}

/** `2025-11-20 14:02` for an ISO timestamp; other text as it is, nothing for nothing. */
export function shortTimestamp(at: string | undefined): string {
  if (at === undefined) return "";
  const match = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})/.exec(at);
  return match ? `${match[1]} ${match[2]}` : at.slice(0, 32);
}
