/** Writers of notes. The public list, written by hand. */

export { PRIORITIES } from "./budget.ts";
export { writeLocalNote } from "./local.ts";
export {
  type Complete,
  type CompletionResult,
  type CompletionTask,
  type ModelNote,
  type ModelWriterOptions,
  modelWriter,
  type NoteCall,
} from "./model.ts";
export { type NativeNote, type NativeWriterOptions, nativeWriter } from "./native/native-writer.ts";
export { focusLine, type PromptName, prompt } from "./prompts.ts";
export type { LocalNote, LocalTask } from "./task.ts";
