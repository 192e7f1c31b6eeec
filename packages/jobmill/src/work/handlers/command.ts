/**
 * `commandJob`: runs a listed program for each job. Opt-in. Anyone who can enqueue its jobs controls the
 * arguments and input of these programs, and everything else the options allow.
 */
import type { JobContext, JobLog } from '../../job/context.ts'
import { defineJob, type JobDefinition } from '../../job/kind/definition.ts'
import { quote } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { CHILD_KEYS, type ChildOptions, checkTexts, childPlan, graceMs, policyOf } from './child-options.ts'
import {
  checkCommand,
  type Command,
  type CommandPayload,
  type CommandPlan,
  namesTimeout,
} from './command-payload.ts'
import { type Exit, exitText, type ProcessGroup, startGroup } from './process-group.ts'
import { resolvePrograms } from './programs.ts'
import { Tail } from './tail.ts'
import { checkRoot } from './working-directory.ts'

export interface CommandOptions extends ChildOptions {
  /** The kind of the jobs that run programs (default `command`). */
  readonly kind?: string
  /** The allowed programs: absolute paths, or bare names, which are resolved through PATH once. */
  readonly programs: readonly string[]
  /**
   * Commands run here, or in a directory inside it that the payload names. If omitted, payloads cannot name a
   * directory. Default: the working directory of this process.
   */
  readonly root?: string
  /**
   * Variables that a payload may set. Default: none, because some of them make a program run arbitrary code.
   */
  readonly payloadEnv?: readonly string[]
}

export interface CommandResult {
  readonly exitCode: 0
  /** The last 4 KiB. */
  readonly stdout: string
  readonly stderr: string
}

export function commandJob(options: CommandOptions): JobDefinition<CommandPayload, CommandResult> {
  const at = 'commandJob'
  checkObjectKeys(options, at, ['kind', 'programs', 'root', 'payloadEnv', ...CHILD_KEYS])
  const { kind = 'command', programs, root, payloadEnv = [] } = options
  const plan: CommandPlan = {
    ...childPlan(options, at),
    programs: resolvePrograms(programs, `${at}.programs`),
    root: root === undefined ? undefined : checkRoot(root, `${at}.root`),
    payloadEnv: checkTexts(payloadEnv, `${at}.payloadEnv`, 'OPTION_INVALID'),
  }
  const job = defineJob({
    ...policyOf(options),
    kind,
    run: (context: JobContext<CommandPayload>) => runCommand(plan, context),
  })
  // A timeout in the options limits all payloads. The default yields to the timeout of a payload.
  return options.timeout === undefined ? Object.freeze({ ...job, hasOwnTimeout: namesTimeout }) : job
}

async function runCommand(plan: CommandPlan, { payload, signal, log }: JobContext): Promise<CommandResult> {
  // Not dead at once: during a rolling deploy, a process of another release may accept the command.
  const command = await checkCommand(payload, plan)
  signal.throwIfAborted()
  const group = await start(command)
  const stdout = new Tail()
  group.stdout.on('data', (chunk: Buffer) => stdout.add(chunk))
  group.stdin.end(command.stdin)
  log('command started', { program: command.name, pid: group.pid })
  const { exit, timedOut } = await untilEnded(group, command, plan, signal)
  logEnd(log, command, exit)
  signal.throwIfAborted()
  if (timedOut)
    throw new Error(
      `${quote(command.name)} timed out after ${command.timeoutMs} ms${group.stderr.inMessage()}`,
    )
  if (exit.code === 0) return { exitCode: 0, stdout: stdout.text(), stderr: group.stderr.text() }
  const how = exit.signal === null ? `failed with ${exitText(exit)}` : `was killed by ${exitText(exit)}`
  throw new Error(`${quote(command.name)} ${how}${group.stderr.inMessage() || stdout.inMessage()}`)
}

/** Errors of the command. Other errors, such as too many processes, are errors of the machine. */
const OF_COMMAND = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'E2BIG'])

async function start(command: Command): Promise<ProcessGroup> {
  try {
    return await startGroup(command)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (!OF_COMMAND.has(code)) throw cause
    const fix =
      code === 'E2BIG'
        ? 'pass large input through payload.stdin'
        : 'check that the file exists and is executable on every machine that serves this queue'
    throw new Error(`payload.argv: ${quote(command.name)} cannot be started (${code}); ${fix}`, { cause })
  }
}

async function untilEnded(
  group: ProcessGroup,
  { timeoutMs }: Command,
  { killAfterMs }: CommandPlan,
  signal: AbortSignal,
): Promise<{ exit: Exit; timedOut: boolean }> {
  let timedOut = false
  const onTimeout = (): void => {
    timedOut = true
    group.stop(killAfterMs)
  }
  const onAbort = (): void => group.stop(graceMs(signal.reason, killAfterMs))
  const timer = timeoutMs === undefined ? undefined : systemPlatform.timer(timeoutMs, onTimeout)
  signal.addEventListener('abort', onAbort)
  // The signal may have fired while the program was starting, and does not fire again.
  if (signal.aborted) onAbort()
  await group.exited
  // Processes it left behind may take longer, but the program itself was in time.
  timer?.cancel()
  const exit = await group.ended
  signal.removeEventListener('abort', onAbort)
  return { exit, timedOut }
}

function logEnd(log: JobLog, { name }: Command, { code, signal }: Exit): void {
  log('command ended', { program: name, exitCode: code, ...(signal === null ? {} : { signal }) })
}
