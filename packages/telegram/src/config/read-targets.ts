/** Reads the targets of handlers: a service to call, a program to run, a job kind to enqueue. */
import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { commandJob } from 'jobmill'
import { checkName } from 'jobmill/internal'
import { httpUrl, refuseUser } from './addresses.ts'
import type { CommandTarget, HttpTarget, JobTarget } from './config.ts'
import { type Place, type Problems, typeOf } from './problems.ts'
import type { Section } from './section.ts'
import { botVariable, secretOf } from './secrets.ts'

const HTTP_TIMEOUT_MS = 5_000
const HTTP_LONGEST_MS = 30_000
const COMMAND_TIMEOUT_MS = 600_000

export function httpOf(slug: string, section: Section, ofSecrets: Problems): HttpTarget {
  const url = section.text('url')
  const parsed = httpUrl(url)
  const at = section.at('url')
  if (url === undefined) section.at().error('has no url', 'Add http: { url: http://service/path }')
  else if (parsed === null)
    at.error('must be an http or https URL', 'Write the whole URL: http://service/path')
  else refuseUser(parsed, at, 'Remove it: your service can verify the signature of a request instead')
  const timeoutAt = section.at('timeout')
  const timeoutMs = section.duration('timeout', HTTP_TIMEOUT_MS)
  if (timeoutMs > HTTP_LONGEST_MS || timeoutMs === 0)
    timeoutAt.error('must be between 1 ms and 30 s', 'Set it to 30s or less, and move slow work into a job')
  const isSigned = section.flag('signed', true)
  const variable = botVariable(slug, 'HTTP_SECRET')
  const secretAt = ofSecrets.at(variable)
  const secret = secretOf(section.env, variable, ofSecrets) ?? null
  if (isSigned && secret === null)
    secretAt.error(
      'is not set',
      'Set the key with which your service verifies signatures, or write signed: false',
    )
  section.refuseOthers()
  return { url: url ?? '', timeoutMs, secret: isSigned ? secret : null }
}

export function commandOf(section: Section): CommandTarget {
  const argv = section.list('run') ?? []
  const at = section.at('run')
  const texts = argv.filter((one): one is string => typeof one === 'string')
  if (texts.length === 0 || texts.length < argv.length)
    at.error('must be a command', "Write run: ['/usr/bin/program', 'argument']")
  else refuseProgram(at, texts[0] ?? '')
  const timeoutMs = section.duration('timeout', COMMAND_TIMEOUT_MS)
  if (timeoutMs === 0)
    section.at('timeout').error('must be greater than 0', 'Set it to a duration such as 10m')
  section.refuseOthers()
  return { argv: texts, timeoutMs }
}

/** Applies the mill's rule for names now, instead of when an update arrives. */
export function jobOf(section: Section): JobTarget {
  const kind = section.text('kind')
  if (kind === undefined) section.at().error('has no kind', 'Add job: { kind: my.kind }')
  const target = { kind: kind ?? '', queue: section.text('queue') ?? null }
  for (const [name, value] of Object.entries(target))
    if (value)
      section.at(name).check(`must be a valid name (got ${typeOf(value)})`, () => checkName(value, name))
  section.refuseOthers()
  return target
}

/** Detects a program that would fail with the first update. */
function refuseProgram(at: Place, program: string): void {
  const problem = `must start with a program that this user can run (got ${typeOf(program)})`
  if (!isAbsolute(program)) at.check(problem, () => commandJob({ programs: [program] }))
  else if (!isProgram(program)) at.error(problem, 'Install it at this path and make it executable')
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
