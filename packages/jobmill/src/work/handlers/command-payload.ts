/** Checks the payload of a command against the options. */
import { type Duration, timeoutMs } from '../../job/duration.ts'
import { invalidValue, JobmillError, pathOf } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkEnv, checkTexts, type ChildPlan, environment } from './child-options.ts'
import type { Program } from './process-group.ts'
import type { Programs } from './programs.ts'
import { directoryInside } from './working-directory.ts'

export interface CommandPayload {
  /** The program, as listed in `programs`, and its arguments. */
  readonly argv: readonly [string, ...string[]]
  /** Additional variables. Only names that `payloadEnv` lists. */
  readonly env?: Readonly<Record<string, string>>
  /** A directory inside the root; relative paths start there. Default: the root. */
  readonly cwd?: string
  readonly stdin?: string
  /**
   * How long the program may take, instead of the default of 10 minutes. A `timeout` in the options or on the
   * job also applies.
   */
  readonly timeout?: Duration
}

export interface CommandPlan extends ChildPlan {
  readonly programs: Programs
  readonly root: string | undefined
  readonly payloadEnv: readonly string[]
}

export interface Command extends Program {
  /** The name in the payload. */
  readonly name: string
  readonly stdin: string
  readonly timeoutMs: number | undefined
}

/** Does not validate the timeout: an invalid payload is rejected before its program starts. */
export function namesTimeout(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'timeout' in payload
}

export async function checkCommand(payload: unknown, plan: CommandPlan): Promise<Command> {
  checkObjectKeys(payload, 'payload', ['argv', 'env', 'cwd', 'stdin', 'timeout'])
  const { argv, env = {}, cwd, stdin = '', timeout } = payload as { [Key in keyof CommandPayload]: unknown }
  const [name = '', ...args] = checkTexts(argv, 'payload.argv', 'PAYLOAD_INVALID')
  const added = checkNames(checkEnv(env, 'payload.env', 'PAYLOAD_INVALID'), plan.payloadEnv)
  if (typeof stdin !== 'string') {
    throw unfit(
      'payload.stdin',
      stdin,
      'must be a string',
      'Pass a string; serialize other values as JSON first',
    )
  }
  return {
    name,
    file: checkProgram(name, plan.programs),
    args,
    env: environment({ env: { ...plan.env, ...added }, inheritEnv: plan.inheritEnv }),
    timeoutMs: timeout === undefined ? undefined : timeoutMs(timeout, 'payload.timeout'),
    stdin,
    cwd: cwd === undefined ? plan.root : await checkCwd(cwd, plan.root),
  }
}

/** With LD_PRELOAD or NODE_OPTIONS, a listed program would run arbitrary code from the payload. */
function checkNames(env: Readonly<Record<string, string>>, allowed: readonly string[]): typeof env {
  const other = Object.keys(env).find((name) => !allowed.includes(name))
  if (other === undefined) return env
  throw new JobmillError('PAYLOAD_INVALID', 'must not be set by a payload', {
    field: pathOf('payload.env', other),
    fix: 'Remove it, or add its name to payloadEnv of commandJob',
  })
}

function checkProgram(name: string, programs: Programs): string {
  const file = programs.get(name)
  if (file !== undefined) return file
  throw unfit(
    'payload.argv[0]',
    name,
    'is not an allowed program',
    `Use one of ${[...programs.keys()].join(', ')}, spelled exactly like this, or add it to the programs of commandJob`,
  )
}

async function checkCwd(cwd: unknown, root: string | undefined): Promise<string> {
  if (root !== undefined) return await directoryInside(root, cwd, 'payload.cwd')
  const fix = 'Omit it, or pass root to commandJob'
  throw unfit('payload.cwd', cwd, 'cannot be set, because commandJob has no root', fix)
}

function unfit(field: string, value: unknown, what: string, fix: string): JobmillError {
  return invalidValue(field, value, what, fix, 'PAYLOAD_INVALID')
}
