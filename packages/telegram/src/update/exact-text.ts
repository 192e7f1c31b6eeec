/**
 * The text of an update as it came, where a program cannot hold all of its numbers: whoever reads such a number and writes it again changes it. All other
 * updates are written from what was read, so that nothing is kept twice.
 */
import type { RawUpdate } from './update.ts'

/** Beyond what every number of JavaScript can be; what only looks so, in a text, costs a few bytes. */
const LONG_NUMBER = /[:,[]\s*-?(?:[\d.]{16,}|[\d.]+e)/i

const texts = new WeakMap<RawUpdate, string>()

/** `text` is what the update was read from. */
export function keepText(update: RawUpdate, text: string): void {
  if (LONG_NUMBER.test(text)) texts.set(update, text)
}

/** Undefined for one that can be written again without a loss. */
export function keptText(update: RawUpdate): string | undefined {
  return texts.get(update)
}

export function jsonOf(update: RawUpdate): string {
  return keptText(update) ?? JSON.stringify(update)
}
