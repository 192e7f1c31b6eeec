/** The checks of the diagnostics in words. The compiler reports a check that is missing here. */
import type { CheckName, Diagnostic } from '../../api/types.ts'
import { sentence } from './format.ts'

const WORDS: Readonly<Record<CheckName, string>> = {
  failing: 'failing kinds',
  dead: 'dead jobs',
  served: 'no workers',
  steps: 'unused steps',
  waiting: 'queue latency',
  paused: 'paused queues',
  workers: 'queues without workers',
  cooling: 'throttling',
  drained: 'drained limits',
  schedules: 'schedules',
  instances: 'processes',
  duties: 'duties',
  notifier: 'notifications',
  settings: 'configuration drift',
  schema: 'schema',
  horizon: 'vacuum',
  replica: 'replica',
  database: 'database',
}

/** In the order in which forms list them. */
export const CHECKS = Object.keys(WORDS) as readonly CheckName[]

/** The message as a sentence. A name at its start keeps its letters. */
export function diagnosticText({ message, about: { name } }: Pick<Diagnostic, 'message' | 'about'>): string {
  return name !== null && message.startsWith(name) ? message : sentence(message)
}

/** Servers of other releases have other checks. */
export function checkWords(check: string): string {
  return (WORDS as Readonly<Record<string, string>>)[check] ?? check
}
