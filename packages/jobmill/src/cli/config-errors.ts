/** Why a config cannot be loaded, in a sentence with the fix, for what newcomers run into. Null for a fault of its own: where that is matters. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { JobmillError } from '../job/errors.ts'
import { syntaxPlaceOf } from './syntax-error.ts'

interface Trouble {
  readonly what: string
  readonly fix: string
}

/** Of a package that says "type": "commonjs", as npm init writes it. */
const READ_AS_COMMONJS = /outside a module|^Unexpected token 'export'/

const NO_SUCH_EXPORT = /does not provide an export named/

/** How a project that tsc compiles is run without compiling it. */
const WITH_TSX =
  "install tsx and run the command with NODE_OPTIONS='--import tsx', or compile the project and give the compiled config"

export async function configError(error: unknown, file: string): Promise<JobmillError | null> {
  if (!(error instanceof Error)) return null
  const trouble = troubleOf(error, 'code' in error ? error.code : undefined, file)
  if (trouble === null) return error.name === 'SyntaxError' ? syntaxError(error, file) : null
  const { what, fix } = trouble
  return new JobmillError('OPTION_INVALID', what, { field: file, fix, cause: error })
}

/** Its place and its message are all that helps: the stack is that of Node's loader. */
async function syntaxError(error: Error, file: string): Promise<JobmillError> {
  const { place, message } = await syntaxPlaceOf(error, file)
  return new JobmillError('OPTION_INVALID', message, { field: place, cause: error })
}

function troubleOf(error: Error, code: unknown, file: string): Trouble | null {
  const { name, message } = error
  const [line = ''] = message.split('\n')
  const source = sourceOf(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return file.endsWith('ts')
      ? {
          what: 'this Node cannot read TypeScript',
          fix: 'Use Node 22.18 or newer, or write the config in JavaScript',
        }
      : { what: 'is no module', fix: 'Write the config as jobmill.config.ts or jobmill.config.mjs' }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return {
      what: `Node only takes types away, and ${line}`,
      fix: `Leave enums, namespaces and parameter properties out of it, or ${WITH_TSX}`,
    }
  if (code === 'ERR_MODULE_NOT_FOUND' && source !== null)
    return {
      what: `it imports ${path.basename(source.asked)}, which is only there as ${path.basename(source.found)}, and Node does not look for that`,
      fix: capital(WITH_TSX),
    }
  if (name === 'SyntaxError' && NO_SUCH_EXPORT.test(line) && file.endsWith('ts'))
    return {
      what: `${line}; if that is a type, Node does not know so`,
      fix: `Write import type for types, or ${WITH_TSX}`,
    }
  if (code === 'ERR_MODULE_NOT_FOUND')
    return {
      what: `it imports what is not there: ${line}`,
      fix: 'Install the package, or mend the path: a file is imported with its ending',
    }
  if (name === 'SyntaxError' && READ_AS_COMMONJS.test(line))
    return {
      what: 'is a module, and its package.json has Node read it as CommonJS',
      fix: `Call it ${asModule(file)}, or set "type": "module" in package.json`,
    }
  return null
}

/** The TypeScript file that an import by the name of its output, or without an ending, means: `./x.js` for x.ts, as tsc has it. */
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

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** `jobmill.config.mts` */
function asModule(file: string): string {
  const { name, ext } = path.parse(file)
  return `${name}.m${ext.slice(1)}`
}
