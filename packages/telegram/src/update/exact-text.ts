/**
 * Keeps the original text of updates with numbers that JavaScript cannot represent exactly. Other updates are
 * serialized from the parsed value, so that nothing is stored twice.
 */
import type { RawUpdate } from './update.ts'

/** Finds numbers that may lose precision. A false match inside a string only stores the update twice. */
const LONG_NUMBER = /[:,[]\s*-?(?:[\d.]{16,}|[\d.]+e)/i

const texts = new WeakMap<RawUpdate, string>()

/** `text` is the JSON of the update. */
export function keepText(update: RawUpdate, text: string): void {
  if (LONG_NUMBER.test(text)) texts.set(update, text)
}

/** Undefined if the update can be serialized without loss. */
export function keptText(update: RawUpdate): string | undefined {
  return texts.get(update)
}

export function jsonOf(update: RawUpdate): string {
  return keptText(update) ?? JSON.stringify(update)
}
