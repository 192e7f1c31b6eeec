/**
 * `jobmill workers` lists worker processes (instances), their running jobs, and the leader of each duty.
 * `jobmill versions` lists the versions of the application that ran in the last 90 days.
 */
import { systemPlatform } from '../../platform/platform.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { DutyView } from '../../runtime/operate/duty-control.ts'
import type { VersionRecord } from '../../store/types/instance.ts'
import type { Command } from '../program/command.ts'
import { runningJobs } from '../jobs/running.ts'
import { withProgress } from '../output/progress.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { instanceState } from '../output/instance-style.ts'
import { answerWith } from '../with-mill.ts'
import { fromNow } from '../output/wording.ts'
import { workerActs } from './workers-act.ts'

type InstanceView = Awaited<ReturnType<typeof instanceViews>>[number]

const list: Command = {
  words: 'workers',
  says: 'list worker processes (instances) with their jobs and workers, and the leader of each duty',
  examples: [
    'jobmill workers',
    `jobmill workers --json | jq '.instances[] | select(.state == "alive").label'`,
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const instances = await withProgress('counting', terminal, (at) =>
        instanceViews(mill, (jobs) => at(jobs, null)),
      )
      // This process runs no duties, so its own view of them is omitted.
      const duties = (await mill.duties()).map(({ here: _, ...duty }) => duty)
      const now = systemPlatform.now()
      const labels = new Map(instances.map(({ id, label }) => [id, label ?? id]))
      const text = [
        tableOf(instances, instanceColumns(now), 'no instances', terminal),
        `\n${tableOf(duties, dutyColumns(labels, now), 'no duties', terminal)}`,
      ]
      return { json: { instances, duties }, text }
    }),
}

export const workers: readonly Command[] = [list, ...workerActs]

async function instanceViews(mill: Mill, counted: (jobs: number) => void) {
  const [instances, slots] = await Promise.all([mill.instances(), mill.slots()])
  const running = await runningJobs(mill, counted)
  return instances.map((instance) => ({
    ...instance,
    /** The number of jobs it runs. */
    running: running.get(instance.id) ?? 0,
    /** Its share of queues whose number of workers is a cluster-wide total. */
    slots: slots.flatMap(({ instance: id, queue, workers }) =>
      id === instance.id ? [{ queue, workers }] : [],
    ),
  }))
}

function instanceColumns(now: number): Columns<InstanceView> {
  return {
    instance: ({ id }) => id,
    label: ({ label }) => label,
    state: instanceState,
    version: ({ version }) => version,
    started: ({ startedAt }) => fromNow(startedAt, now),
    heartbeat: ({ renewedAt }) => fromNow(renewedAt, now),
    jobs: ({ running }) => running,
    workers: ({ slots }) =>
      slots.length === 0 ? null : slots.map(({ queue, workers }) => `${queue} ${workers}`).join(', '),
    queues: ({ queues }) => queues.join(', '),
  }
}

function dutyColumns(labels: ReadonlyMap<string, string>, now: number): Columns<Omit<DutyView, 'here'>> {
  return {
    duty: ({ name }) => name,
    leader: ({ leader }) => (leader === null ? null : (labels.get(leader) ?? leader)),
    'last success': ({ lastSuccessAt }) => (lastSuccessAt === null ? null : fromNow(lastSuccessAt, now)),
    failures: ({ failures }) => failures,
  }
}

export const versions: Command = {
  words: 'versions',
  says: 'list the versions of your application, latest first: when they ran, and in how many processes',
  examples: ['jobmill versions', 'jobmill versions --json | jq ".versions[0].version"'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const found = await mill.versions()
      const none = 'no versions: set instance.version or JOBMILL_WORKER_VERSION'
      return {
        json: { versions: found },
        text: [tableOf(found, versionColumns(systemPlatform.now()), none, terminal)],
      }
    }),
}

function versionColumns(now: number): Columns<VersionRecord> {
  return {
    version: ({ version }) => version,
    'first seen': ({ firstAt }) => fromNow(firstAt, now),
    'last seen': ({ lastAt, alive }) => (alive > 0 ? 'now' : fromNow(lastAt, now)),
    processes: ({ instances }) => instances,
    alive: ({ alive }) => alive,
  }
}
