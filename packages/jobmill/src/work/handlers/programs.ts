/** The allow-list of commands: which programs a payload may name, and the file of each. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { checkTexts } from './child-options.ts'

/** Maps the name in the list and in payloads to the file. */
export type Programs = ReadonlyMap<string, string>

/** Resolves bare names once: a later change of PATH must not change what may run. */
export function resolvePrograms(programs: unknown, field: string): Programs {
  const names = checkTexts(programs, field, 'OPTION_INVALID')
  if (names.length === 0) {
    throw new JobmillError('OPTION_INVALID', 'must not be empty', {
      field,
      fix: 'List the programs that payloads may name, such as ["/usr/bin/convert", "git"]',
    })
  }
  return new Map(names.map((name, at) => [name, fileOf(name, `${field}[${at}]`)]))
}

function fileOf(name: string, field: string): string {
  // Checked when it is started: it may be installed later.
  if (isAbsolute(name)) return name
  if (name === '' || name.includes('/')) {
    const fix = 'Pass a path that starts with /, or a name that PATH resolves'
    throw invalidValue(field, name, 'must be an absolute path or a bare name', fix)
  }
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    // A relative folder would depend on the working directory of this process.
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((file) => isProgram(file))
  if (found !== undefined) return found
  throw invalidValue(field, name, 'was not found in PATH', 'Install it, or pass its absolute path')
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
