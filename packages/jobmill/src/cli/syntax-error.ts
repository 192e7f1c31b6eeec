/**
 * Locates a syntax error in a config. Node omits the location from the error and prints it only when a
 * program ends with it.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export interface SyntaxPlace {
  /** `/app/jobmill.config.ts:4:3`, without the column, or line and column, if Node does not report them. */
  readonly place: string
  readonly message: string
}

/**
 * Matches a file, but not a module of Node such as `node:internal/modules/run_main:107`, which may come
 * first.
 */
const PLACE = /^(file:.+|\/.+|[A-Za-z]:\\.+):(\d+)$/
const MESSAGE = /^SyntaxError[^:]*: (.*)$/
/** How many lines of source, carets and blanks may separate the two. */
const MOST_BETWEEN = 5
const DEADLINE_MS = 10_000

/**
 * TypeScript errors have the location in their stack. JavaScript errors do not, so a child process loads the
 * file and prints it.
 */
export async function syntaxPlaceOf(error: Error, file: string): Promise<SyntaxPlace> {
  const [message = ''] = error.message.split('\n')
  return placeIn(error.stack ?? '') ?? placeIn(await stderrOfLoading(file)) ?? { place: file, message }
}

/** There is no caret when the file ends too early. */
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

/** What Node prints when it loads this file. The file does not run, because its syntax is invalid. */
async function stderrOfLoading(file: string): Promise<string> {
  const load = ['--input-type=module', '--eval', 'await import(process.argv[1])', pathToFileURL(file).href]
  try {
    await promisify(execFile)(process.execPath, [...process.execArgv, ...load], { timeout: DEADLINE_MS })
    return ''
  } catch (failure) {
    return failure instanceof Error && 'stderr' in failure ? String(failure.stderr) : ''
  }
}
