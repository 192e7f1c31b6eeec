// Finds the file of each case and loads it by name, so that a cell loads only the case that it runs.
import type { Case } from './case.ts'

const enqueue = async (): Promise<Case> => (await import('./cases/enqueue.ts')).enqueueCase
const drain = async (): Promise<Case> => (await import('./cases/drain.ts')).drainCase
const statements = async (): Promise<Case> => (await import('./cases/statements.ts')).statementsCase
const together = async (): Promise<Case> => (await import('./cases/together.ts')).togetherCase
const pickup = async (): Promise<Case> => (await import('./cases/pickup.ts')).pickupCase
const backlog = async (): Promise<Case> => (await import('./cases/backlog.ts')).backlogCase
const emptyClaim = async (): Promise<Case> => (await import('./cases/empty-claim.ts')).emptyClaimCase
const pinned = async (): Promise<Case> => (await import('./cases/pinned.ts')).pinnedCase
const processes = async (): Promise<Case> => (await import('./cases/processes.ts')).processesCase
const scale = async (): Promise<Case> => (await import('./cases/scale.ts')).scaleCase
const openLoad = async (): Promise<Case> => (await import('./cases/open-load.ts')).openLoadCase
const slowCommits = async (): Promise<Case> => (await import('./cases/slow-commits.ts')).slowCommitsCase
const growth = async (): Promise<Case> => (await import('./cases/growth.ts')).growthCase
const idle = async (): Promise<Case> => (await import('./cases/idle.ts')).idleCase
const steps = async (): Promise<Case> => (await import('./cases/steps.ts')).stepsCase
const stepsLong = async (): Promise<Case> => (await import('./cases/steps-long.ts')).stepsLongCase
const groups = async (): Promise<Case> => (await import('./cases/groups.ts')).groupsCase
const memory = async (): Promise<Case> => (await import('./cases/memory.ts')).memoryCase

const CASES: Readonly<Record<string, () => Promise<Case>>> = {
  a: enqueue,
  b: enqueue,
  c: enqueue,
  d: drain,
  'd-nothing-kept': drain,
  'd-statements': statements,
  e: together,
  'e-1000': together,
  'e-nothing-kept': together,
  'f-same': pickup,
  'f-other': pickup,
  'f-tx': pickup,
  g: backlog,
  h: emptyClaim,
  i: pinned,
  'i-unpinned': pinned,
  'j-2': processes,
  'j-4': processes,
  'j-cold-2': processes,
  'j-cold-4': processes,
  'scale-1': scale,
  'scale-2': scale,
  'scale-4': scale,
  'open-1000': openLoad,
  'open-4000': openLoad,
  'slow-commits': slowCommits,
  k: growth,
  'k-kept': growth,
  l: idle,
  steps,
  'steps-long': stepsLong,
  'groups-drain': groups,
  'groups-pickup': groups,
  'groups-claim': groups,
  memory,
}

export async function loadCase(name: string): Promise<Case> {
  const loaded = await CASES[name]?.()
  if (loaded === undefined || !loaded.names.includes(name)) throw new Error(`unknown case ${name}`)
  return loaded
}
