/** Badges for states and outcomes, by name and color, never by color alone. */
import type { Outcome, State } from '../api/types.ts'
import { classes } from './classes.ts'

const COLOURS: Readonly<Record<State, string>> = {
  scheduled: 'text-scheduled',
  ready: 'text-ready',
  running: 'text-running',
  done: 'text-done',
  dead: 'text-dead',
  cancelled: 'text-cancelled',
}

export function StateBadge({ state, note }: { readonly state: State; readonly note?: string }) {
  return <Badge colour={COLOURS[state]} text={note === undefined ? state : `${state}, ${note}`} />
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  returned: 'text-done',
  failed: 'text-dead',
  'timed-out': 'text-dead',
  'failed-permanently': 'text-dead',
  snoozed: 'text-scheduled',
  parked: 'text-scheduled',
  throttled: 'text-ready',
  cancelled: 'text-cancelled',
  interrupted: 'text-ready',
}

/** The name of an outcome as users read it. */
export function outcomeText(outcome: Outcome | 'running'): string {
  return outcome === 'returned' ? 'succeeded' : outcome.replaceAll('-', ' ')
}

export function OutcomeBadge({ outcome }: { readonly outcome: Outcome }) {
  return <Badge colour={OUTCOMES[outcome]} text={outcomeText(outcome)} />
}

/** `colour` is a text color class; the dot inherits it. */
export function Badge({ colour, text }: { readonly colour: string; readonly text: string }) {
  return (
    <span className={classes('inline-flex items-center gap-1.5 font-medium whitespace-nowrap', colour)}>
      <span aria-hidden className="size-2 shrink-0 rounded-full bg-current" />
      {text}
    </span>
  )
}
