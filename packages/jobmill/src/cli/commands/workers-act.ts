/** `jobmill workers quiet`, `resume` and `stop`: operate worker processes by id or label. */
import { quote } from '../../job/errors.ts'
import { didYouMean } from '../../job/options/known-keys.ts'
import { countText } from '../../job/text/count-text.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { durationMs } from '../../job/duration.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import { runningJobs } from '../jobs/running.ts'
import { confirm, YES } from '../output/confirm.ts'
import type { Terminal } from '../output/terminal.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { lengthOf } from '../program/typed-values.ts'
import { answerWith, BY_CLI } from '../with-mill.ts'

const MOST_NAMES = 1_000
const LOOK_EVERY_MS = 1_000

type Act = 'quietInstance' | 'resumeInstance' | 'stopInstance'

const NAMES = {
  takes: 'NAME …',
  arguments: [1, MOST_NAMES],
  fields: { id: 'NAME' },
} as const

const WAIT = {
  takes: 'DURATION',
  says: 'wait up to this long for running jobs to end; exits with 1 if some are still running',
} as const

const quiet: Command = {
  words: 'workers quiet',
  ...NAMES,
  says: 'claim no more jobs in these processes (id or label); running jobs continue',
  options: { 'wait-for': WAIT },
  examples: ['jobmill workers quiet shop-worker-1', 'jobmill workers quiet "$HOSTNAME" --wait-for 10m'],
  async run(parsed, terminal) {
    const wait = lengthOf(parsed, 'wait-for')
    const waitMs = wait === undefined ? null : durationMs(wait, '--wait-for')
    return answerWith(parsed, terminal, async (mill) => {
      const instances = await actOn(mill, parsed, 'quietInstance')
      if (waitMs === null) return answer(instances, 'quiet; running jobs continue')
      const running = await waitForJobs(mill, instances, waitMs, terminal)
      if (running === 0) return answer(instances, 'quiet; no job is running')
      terminal.err(
        `error   --wait-for: ${countText(running, 'job')} still running (got ${quote(parsed.text('wait-for'))}). Wait longer, or run jobmill workers stop.`,
      )
      return EXIT.failed
    })
  },
}

const resume: Command = {
  words: 'workers resume',
  ...NAMES,
  says: 'claim jobs again in quiet processes (id or label)',
  examples: [
    'jobmill workers resume shop-worker-1',
    'jobmill workers resume shop-worker-1 shop-worker-2 --json',
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) =>
      answer(await actOn(mill, parsed, 'resumeInstance'), 'resumed'),
    ),
}

const stop: Command = {
  words: 'workers stop',
  ...NAMES,
  says: 'stop these processes (id or label) like SIGTERM: running jobs get the grace period',
  options: { yes: YES },
  examples: ['jobmill workers stop shop-worker-1', 'jobmill workers stop shop-worker-1 --yes --json'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const found = await findAll(mill, parsed.words)
      const question = `stop ${found.map(nameOf).join(', ')}?`
      if (!(await confirm(question, 'nothing was stopped', parsed, terminal))) return EXIT.refused
      return answer(await actOn(mill, parsed, 'stopInstance'), 'stopping; running jobs get the grace period')
    }),
}

export const workerActs: readonly Command[] = [quiet, resume, stop]

const nameOf = ({ id, label }: InstanceRecord): string => label ?? id

function answer(instances: readonly InstanceRecord[], message: string) {
  return { json: { instances }, text: instances.map((one) => `${nameOf(one)} ${message}`) }
}

async function actOn(mill: Mill, { words }: ParsedArguments, act: Act): Promise<InstanceRecord[]> {
  const done = []
  for (const { id } of await findAll(mill, words)) done.push(await mill[act](id, BY_CLI))
  return done
}

/** Finds all processes first, so that a typo in one name changes nothing. */
async function findAll(mill: Mill, names: readonly string[]): Promise<InstanceRecord[]> {
  const all = await mill.instances()
  return names.map((name) => findOne(all, name))
}

/** By id, or by label among the running processes: an ended one may have had the same label. */
function findOne(all: readonly InstanceRecord[], name: string): InstanceRecord {
  const byId = all.find(({ id }) => id === name.toLowerCase())
  if (byId !== undefined) return byId
  const running = all.filter(({ endedAt }) => endedAt === null)
  const [found, ...more] = running.filter(({ label }) => label === name)
  if (found === undefined) {
    const labels = running.flatMap(({ label }) => label ?? [])
    const fix = didYouMean(name, labels, 'Run "jobmill workers" to see all processes')
    throw invalid('NAME', 'no running process has this id or label', fix, name, 'INSTANCE_UNKNOWN')
  }
  if (more.length === 0) return found
  const ids = [found, ...more].map(({ id }) => id).join(', ')
  throw invalid('NAME', `${more.length + 1} processes have this label`, `Use one of the ids ${ids}`, name)
}

/** Resolves with the number of jobs that still run at the end. */
async function waitForJobs(
  mill: Mill,
  instances: readonly InstanceRecord[],
  waitMs: number,
  terminal: Terminal,
): Promise<number> {
  const ids = new Set(instances.map(({ id }) => id))
  const until = systemPlatform.monotonic() + waitMs
  for (;;) {
    const byInstance = await runningJobs(mill)
    const running = [...ids].reduce((sum, id) => sum + (byInstance.get(id) ?? 0), 0)
    const leftMs = until - systemPlatform.monotonic()
    terminal.status(running === 0 || leftMs <= 0 ? '' : `waiting for ${countText(running, 'running job')}`)
    if (running === 0 || leftMs <= 0) return running
    await sleep(systemPlatform, Math.min(LOOK_EVERY_MS, leftMs))
  }
}
