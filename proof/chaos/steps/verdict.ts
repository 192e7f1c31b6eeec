/** P17 and P18, from what handlers wrote to their ledgers and what the store has recorded. */
import type { SentEvent } from './senders.ts'
import type { StepLine } from './kinds.ts'

export interface StepObservations {
  readonly lines: readonly StepLine[]
  /** The recorded results of the steps of each job, by name. */
  readonly recorded: ReadonlyMap<string, ReadonlyMap<string, unknown>>
  readonly sent: readonly SentEvent[]
}

/** For the report of a run. */
export interface StepFigures {
  /** Done steps with a function. */
  readonly stepCount: number
  readonly acknowledgedEvents: number
  readonly lostEvents: number
  readonly eventsTwice: number
}

export function stepFigures({ recorded, sent }: StepObservations): StepFigures {
  const { lost, twice } = receipts(recorded, sent)
  return {
    stepCount: [...recorded.values()].flatMap((steps) => [...steps.keys()].filter(isStep)).length,
    acknowledgedEvents: sent.filter(({ isAcknowledged }) => isAcknowledged).length,
    lostEvents: lost.length,
    eventsTwice: twice.length,
  }
}

const isStep = (name: string): boolean => name.startsWith('step ')
const stepKey = ({ job, step }: StepLine): string => `${job} ${step}`

/** A sentence for each violated guarantee. */
export function stepsBroken({ lines, recorded, sent }: StepObservations): string[] {
  const inOrder = lines.toSorted((a, b) => a.at - b.at)
  const saws = inOrder.filter(({ what }) => what === 'saw')
  /** The first handler that got the result of a step: from then on, it must not run again. */
  const first = new Map<string, StepLine>()
  for (const line of saws) if (!first.has(stepKey(line))) first.set(stepKey(line), line)
  const isAgain = (line: StepLine): boolean => {
    const before = first.get(stepKey(line))
    // An attempt that lost its lease may still begin a step, but cannot record it.
    return line.what === 'ran' && before !== undefined && line.at > before.at && line.token >= before.token
  }
  const isOther = (line: StepLine): boolean => recorded.get(line.job)?.get(line.step) !== line.value
  return [
    ...summed('step repeated', 'steps ran after they were recorded', inOrder.filter(isAgain).map(stepKey)),
    ...summed(
      'step result',
      'results that a handler got are not the recorded ones',
      saws.filter(isOther).map(stepKey),
    ),
    ...eventsBroken(recorded, sent),
  ]
}

/** Which waits received which events. */
function receipts(recorded: StepObservations['recorded'], sent: readonly SentEvent[]) {
  const receivedBy = new Map<number, string[]>()
  for (const [job, steps] of recorded)
    for (const [step, value] of steps)
      if (step.startsWith('wait '))
        receivedBy.set(value as number, [...(receivedBy.get(value as number) ?? []), `${job} ${step}`])
  const lost = sent.filter(({ n, isAcknowledged }) => isAcknowledged && !receivedBy.has(n))
  const twice = [...receivedBy].filter(([, steps]) => steps.length > 1)
  const strange = [...receivedBy].filter(([n, steps]) => !steps[0]?.startsWith(sent[n]?.job ?? '-'))
  return { lost, twice, strange }
}

function eventsBroken(recorded: StepObservations['recorded'], sent: readonly SentEvent[]): string[] {
  const { lost, twice, strange } = receipts(recorded, sent)
  return [
    ...summed(
      'event lost',
      'acknowledged events were not received',
      lost.map(({ job, n }) => `event ${n} of ${job}`),
    ),
    ...summed(
      'event twice',
      'events were received by two waits',
      twice.map(([n]) => `event ${n}`),
    ),
    ...summed(
      'event twice',
      'events were received by a job that they were not sent to',
      strange.map(([n]) => `event ${n}`),
    ),
  ]
}

function summed(rule: string, what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${rule}: ${names.length} ${what} (${names[0] ?? ''}).`]
}
