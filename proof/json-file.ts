/** The file that a summary goes to. */
import { closeSync, openSync } from 'node:fs'

/** Before a long run: what is wrong with it, in a sentence; null when it can be written. */
export function problemWith(file: string | undefined): string | null {
  if (file === undefined) return null
  try {
    closeSync(openSync(file, 'a'))
    return null
  } catch (error) {
    return `--json: ${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`
  }
}
