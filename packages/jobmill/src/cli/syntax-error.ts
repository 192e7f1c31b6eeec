/** Where the syntax error of a config is. Node keeps the place out of the error and writes it only when a program ends with that error. */
import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export interface SyntaxPlace {
  /** `/app/jobmill.config.ts:4:3`, or the file alone. */
  readonly place: string
  readonly message: string
}

const PLACED = /^(\S.*):(\d+)\n(?:.*\n){0,4}?( *)\^[\s\S]*?^(?:\w+Error)[^:\n]*: (.*)$/m
const DEADLINE_MS = 10_000

/** Errors of TypeScript have the place in their stack. Those of JavaScript have it nowhere, so another process loads the file and is asked. */
export async function syntaxPlaceOf(error: Error, file: string): Promise<SyntaxPlace> {
  const [message = ''] = error.message.split('\n')
  return placeIn(error.stack ?? '') ?? placeIn(await writtenBy(file)) ?? { place: file, message }
}

function placeIn(text: string): SyntaxPlace | null {
  const [, where, line, indent = '', message] = PLACED.exec(text) ?? []
  if (where === undefined || message === undefined) return null
  const file = where.startsWith('file:') ? fileURLToPath(where) : where
  return { place: `${file}:${line}:${indent.length + 1}`, message }
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
