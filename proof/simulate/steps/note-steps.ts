/** Records what the store has done with the steps of jobs and their events. */
import type { EventReply, SentEvent, StepWait, StepWrite, Waited } from 'jobmill/store'
import type { StepEntry } from '../../history/step-entries.ts'

export interface StepNotes {
  readonly recorded: (items: readonly StepWrite[], replies: readonly boolean[]) => void
  readonly waited: (items: readonly StepWait[], replies: readonly Waited[]) => void
  readonly sent: (items: readonly SentEvent[], replies: readonly EventReply[]) => void
}

export function stepNotes(note: (what: StepEntry) => void, now: () => number): StepNotes {
  return {
    recorded(items, replies) {
      items.forEach(({ id: job, token, name: step, isDone, result: value }, n) => {
        if (isDone && replies[n] === true) note({ what: 'step recorded', job, token, step, value })
      })
    },
    waited(items, replies) {
      items.forEach(({ id: job, token, name: step, events }, n) => {
        const reply = replies[n]
        if (reply?.accepted !== true) return
        const { isDone, dueInMs, result: value } = reply
        if (isDone) return note({ what: 'step recorded', job, token, step, value, ...ofEvents(events) })
        note({
          what: 'step waits',
          job,
          token,
          step,
          events,
          dueAt: dueInMs === null ? null : now() + dueInMs,
        })
      })
    },
    sent(items, replies) {
      items.forEach(({ name, payload }, n) => {
        const reply = replies[n]
        if (reply?.isStored === true && reply.id !== null)
          note({ what: 'event stored', job: reply.id, name, payload })
      })
    },
  }
}

/** A sleep that is over has no event. */
function ofEvents(events: readonly string[]): { readonly events?: readonly string[] } {
  return events.length === 0 ? {} : { events }
}
