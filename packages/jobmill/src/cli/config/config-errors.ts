/**
 * Explains the common reasons why a config cannot be loaded, with a fix. Returns null for an error in the
 * config's own code, whose stack trace is more useful.
 */
import path from 'node:path'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { JobmillError } from '../../job/errors.ts'

interface Problem {
  readonly what: string
  readonly fix: string
}

/** A package with "type": "commonjs", as `npm init` writes it, makes Node read the config as CommonJS. */
const READ_AS_COMMONJS = /outside a module|^Unexpected token 'export'/

const NO_SUCH_EXPORT = /does not provide an export named/

/** How to run a project that is written for tsc without compiling it. */
const WITH_TSX =
  "install tsx and run the command with NODE_OPTIONS='--import tsx', or compile the project and pass the compiled config"

export async function configError(error: unknown, file: string): Promise<JobmillError | null> {
  if (!(error instanceof Error)) return null
  const problem = problemOf(error, 'code' in error ? error.code : undefined, file)
  if (problem === null) return error.name === 'SyntaxError' ? syntaxError(error, file) : null
  const { what, fix } = problem
  return new JobmillError('OPTION_INVALID', what, { field: file, fix, cause: error })
}

/** Reports the location and the message only: the stack trace is that of Node's loader. */
async function syntaxError(error: Error, file: string): Promise<JobmillError> {
  const { place, message, source = '' } = await syntaxPlaceOf(error, file)
  const decorator = source.startsWith('@') && { fix: `Remove decorators, or ${WITH_TSX}` }
  return new JobmillError('OPTION_INVALID', message, { field: place, cause: error, ...decorator })
}

function problemOf(error: Error, code: unknown, file: string): Problem | null {
  const { name, message } = error
  const [line = ''] = message.split('\n')
  const source = sourceOf(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return file.endsWith('ts')
      ? {
          what: 'this version of Node cannot load TypeScript',
          fix: 'Use Node 22.18 or newer, or write the config in JavaScript',
        }
      : { what: 'is not a module', fix: 'Write the config as jobmill.config.ts or jobmill.config.mjs' }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return {
      what: `uses TypeScript syntax that Node cannot strip: ${line}`,
      fix: `Remove enums, namespaces and parameter properties, or ${WITH_TSX}`,
    }
  if (code === 'ERR_MODULE_NOT_FOUND' && source !== null)
    return {
      what: `imports ${path.basename(source.asked)}, but only ${path.basename(source.found)} exists and Node does not map one to the other`,
      fix: capital(WITH_TSX),
    }
  if (name === 'SyntaxError' && NO_SUCH_EXPORT.test(line) && file.endsWith('ts'))
    return {
      what: `${line}; Node cannot tell types from values`,
      fix: `Use import type for types, or ${WITH_TSX}`,
    }
  const alias = code === 'ERR_MODULE_NOT_FOUND' ? aliasOf(line, file) : undefined
  if (alias !== undefined)
    return {
      what: `imports an alias of "paths" in ${alias}, which Node does not read: ${line}`,
      fix: `Use relative paths, or ${WITH_TSX}`,
    }
  if (code === 'ERR_MODULE_NOT_FOUND')
    return {
      what: `imports a module that does not exist: ${line}`,
      fix: 'Install the package, or fix the path: imports need the file extension',
    }
  if (name === 'SyntaxError' && READ_AS_COMMONJS.test(line))
    return {
      what: 'is an ES module, but package.json makes Node read it as CommonJS',
      fix: `Rename it to ${asModule(file)}, or set "type": "module" in package.json`,
    }
  return null
}

/**
 * Finds the TypeScript file behind an import of its compiled name, such as `./x.js` for x.ts, or without an
 * extension.
 */
function sourceOf(error: Error): { readonly asked: string; readonly found: string } | null {
  const url: unknown = 'url' in error ? error.url : undefined
  if (typeof url !== 'string' || !url.startsWith('file:')) return null
  const asked = fileURLToPath(url)
  const { dir, name, ext } = path.parse(asked)
  const stem = /^\.[cm]?jsx?$/.test(ext) ? path.join(dir, name) : asked
  const found = ['.ts', '.mts', '.cts', '.tsx', '/index.ts']
    .map((end) => stem + end)
    .find((one) => existsSync(one))
  return found === undefined ? null : { asked, found }
}

/** The nearest tsconfig.json, if one of its `paths` matches the package that Node did not find. */
function aliasOf(line: string, file: string): string | undefined {
  const [, name] = /^Cannot find package '([^']+)'/.exec(line) ?? []
  if (name === undefined) return undefined
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'tsconfig.json')
    if (existsSync(found)) {
      // It may have comments, so it is not parsed as JSON.
      const [, paths = ''] = /"paths"\s*:\s*\{([^}]*)\}/.exec(readFileSync(found, 'utf8')) ?? []
      const prefixes = [...paths.matchAll(/"([^"]*)"\s*:/g)].map(([, alias = '']) =>
        alias.replace(/\*.*$/, ''),
      )
      return prefixes.some((prefix) => `${name}/`.startsWith(prefix)) ? found : undefined
    }
    if (folder === path.dirname(folder)) return undefined
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** `jobmill.config.mts` */
function asModule(file: string): string {
  const { name, ext } = path.parse(file)
  return `${name}.m${ext.slice(1)}`
}

interface SyntaxPlace {
  /** `/app/jobmill.config.ts:4:3`, without the column, or line and column, if Node does not report them. */
  readonly place: string
  readonly message: string
  /** The text at the place. */
  readonly source?: string
}

/**
 * Matches a file, but not a module of Node such as `node:internal/modules/run_main:107`, which may come
 * first.
 */
const PLACE = /^(file:.+|\/.+|[A-Za-z]:\\.+):(\d+)$/
const MESSAGE = /^SyntaxError[^:]*: (.*)$/
/** How many lines may be between the place and the message: source, carets and blank lines. */
const MOST_BETWEEN = 5
const DEADLINE_MS = 10_000

/**
 * TypeScript errors have the location in their stack. JavaScript errors do not, so a child process loads the
 * file and prints it.
 */
async function syntaxPlaceOf(error: Error, file: string): Promise<SyntaxPlace> {
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
  if (caret === undefined) return { place: `${file}:${line}`, message }
  const column = caret.indexOf('^')
  return { place: `${file}:${line}:${column + 1}`, message, source: before[start + 1]?.slice(column) ?? '' }
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
