/** The output file of a summary. */
import { closeSync, openSync } from 'node:fs'

/** Checked before a long run: the problem in a sentence, or null if it can be written. */
export function problemWith(file: string | undefined): string | null {
  if (file === undefined) return null
  try {
    closeSync(openSync(file, 'a'))
    return null
  } catch (error) {
    return `--json: ${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`
  }
}
