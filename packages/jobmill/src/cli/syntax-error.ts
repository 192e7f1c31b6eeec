/** Where the syntax error of a config is. Node keeps the place out of the error and writes it only when a program ends with that error. */
import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export interface SyntaxPlace {
  /** `/app/jobmill.config.ts:4:3`, or without what Node does not say: the column, or line and column. */
  readonly place: string
  readonly message: string
}

/** A file, never a module of Node such as `node:internal/modules/run_main:107`, which may stand in front. */
const PLACE = /^(file:.+|\/.+|[A-Za-z]:\\.+):(\d+)$/
const MESSAGE = /^SyntaxError[^:]*: (.*)$/
/** How many lines of source, carets and blanks may stand between them. */
const MOST_BETWEEN = 5
const DEADLINE_MS = 10_000

/** Errors of TypeScript have the place in their stack. Those of JavaScript have it nowhere, so another process loads the file and is asked. */
export async function syntaxPlaceOf(error: Error, file: string): Promise<SyntaxPlace> {
  const [message = ''] = error.message.split('\n')
  return placeIn(error.stack ?? '') ?? placeIn(await writtenBy(file)) ?? { place: file, message }
}

/** The caret is missing where a file ends too early. */
function placeIn(text: string): SyntaxPlace | null {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => MESSAGE.test(line))
  const before = lines.slice(Math.max(0, end - MOST_BETWEEN - 1), Math.max(0, end))
  const start = before.findLastIndex((line) => PLACE.test(line))
  const [, where, line] = PLACE.exec(before[start] ?? '') ?? []
  const [, message] = MESSAGE.exec(lines[end] ?? '') ?? []
  if (where === undefined || message === undefined) return null
  const file = where.startsWith('file:') ? fileURLToPath(where) : where
  const caret = before.slice(start + 1).find((one) => /^ *\^/.test(one))
  return { place: `${file}:${line}${caret === undefined ? '' : `:${caret.indexOf('^') + 1}`}`, message }
}

/** What Node writes to standard error when it loads this file. Nothing of it runs: its syntax is wrong. */
async function writtenBy(file: string): Promise<string> {
  const load = ['--input-type=module', '--eval', 'await import(process.argv[1])', pathToFileURL(file).href]
  try {
    await promisify(execFile)(process.execPath, [...process.execArgv, ...load], { timeout: DEADLINE_MS })
    return ''
  } catch (failure) {
    return failure instanceof Error && 'stderr' in failure ? String(failure.stderr) : ''
  }
}
