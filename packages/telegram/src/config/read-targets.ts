/** Reads the targets of handlers: a service to call, a program to run, a job kind to enqueue. */
import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { commandJob, isJobmillError } from 'jobmill'
import { checkName } from 'jobmill/internal'
import type { CommandTarget, HttpTarget, JobTarget } from './config.ts'
import { type Problems, typeOf } from './problems.ts'
import type { Section } from './section.ts'
import { botVariable, type Env, secretOf } from './secrets.ts'

const HTTP_TIMEOUT_MS = 5_000
const HTTP_LONGEST_MS = 30_000
const COMMAND_TIMEOUT_MS = 600_000

export function httpOf(
  slug: string,
  section: Section,
  { env, found }: { readonly env: Env; readonly found: Problems },
  ofSecrets: Problems,
): HttpTarget {
  const url = section.text('url')
  if (url === undefined) found.error(section.at(), 'has no url', 'Add http: { url: http://service/path }')
  else if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    // The value is left out, because it may contain a secret.
    found.error(section.at('url'), 'must be an http or https URL', 'Write the whole URL: http://service/path')
  else if (new URL(url).password !== '' || new URL(url).username !== '')
    found.error(
      section.at('url'),
      'must not contain a user name or password',
      'Remove it: your service can verify the signature of a request instead',
    )
  const timeoutMs = section.duration('timeout', HTTP_TIMEOUT_MS)
  if (timeoutMs > HTTP_LONGEST_MS || timeoutMs === 0)
    found.error(
      section.at('timeout'),
      'must be between 1 ms and 30 s',
      "Write '5s', and move slow work into a job",
    )
  const isSigned = section.flag('signed', true)
  const variable = botVariable(slug, 'HTTP_SECRET')
  const secret = secretOf(env, variable, ofSecrets) ?? null
  if (isSigned && secret === null)
    ofSecrets.error(
      variable,
      'is not set',
      'Set the key with which your service verifies signatures, or write signed: false',
    )
  section.refuseOthers()
  return { url: url ?? '', timeoutMs, secret: isSigned ? secret : null }
}

export function commandOf(section: Section, found: Problems): CommandTarget {
  const argv = section.list('run') ?? []
  const texts = argv.filter((one): one is string => typeof one === 'string')
  if (texts.length === 0 || texts.length < argv.length)
    found.error(section.at('run'), 'must be a command', "Write run: ['/usr/bin/program', 'argument']")
  else refuseProgram(section.at('run'), texts[0] ?? '', found)
  const target = { argv: texts, timeoutMs: section.duration('timeout', COMMAND_TIMEOUT_MS) }
  if (target.timeoutMs === 0) found.error(section.at('timeout'), 'must be greater than 0', "Write '10m'")
  section.refuseOthers()
  return target
}

export function jobOf(section: Section, found: Problems): JobTarget {
  const kind = section.text('kind')
  if (kind === undefined) found.error(section.at(), 'has no kind', 'Add job: { kind: my.kind }')
  const target = { kind: kind ?? '', queue: section.text('queue') ?? null }
  for (const [name, value] of Object.entries(target)) if (value) refuseName(section.at(name), value, found)
  section.refuseOthers()
  return target
}

/** Applies the mill's rule for names now, instead of when an update arrives. */
function refuseName(place: string, name: string, found: Problems): void {
  try {
    checkName(name, place)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(place, `must be a valid name (got ${typeOf(name)})`, error.fix ?? '')
  }
}

/** Detects a program that would fail with the first update. */
function refuseProgram(place: string, program: string, found: Problems): void {
  const problem = `must start with a program that this user can run (got ${typeOf(program)})`
  if (isAbsolute(program)) {
    if (!isProgram(program)) found.error(place, problem, 'Install it at this path and make it executable')
    return
  }
  try {
    commandJob({ programs: [program] })
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(place, problem, error.fix ?? '')
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
