/** Why a config cannot be loaded, in a sentence with the fix, for what newcomers run into. Null for a fault of its own: where that is matters. */
import path from 'node:path'
import { JobmillError } from '../job/errors.ts'

interface Trouble {
  readonly what: string
  readonly fix: string
}

/** Of a package that says "type": "commonjs", as npm init writes it. */
const READ_AS_COMMONJS = /outside a module|^Unexpected token 'export'/

export function configError(error: unknown, file: string): JobmillError | null {
  if (!(error instanceof Error)) return null
  const trouble = troubleOf(error, 'code' in error ? error.code : undefined, file)
  if (trouble === null) return null
  const { what, fix } = trouble
  return new JobmillError('OPTION_INVALID', what, { field: file, fix, cause: error })
}

function troubleOf({ name, message }: Error, code: unknown, file: string): Trouble | null {
  const [line = ''] = message.split('\n')
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
      fix: 'Leave enums, namespaces and parameter properties out of it, or compile it',
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

/** `jobmill.config.mts` */
function asModule(file: string): string {
  const { name, ext } = path.parse(file)
  return `${name}.m${ext.slice(1)}`
}
