/** Faults in alerts: a message is lost, or sent twice. */
import type { TestedMutant } from '../mutant.ts'

export const ALERTS: readonly TestedMutant[] = [
  {
    name: 'alerts: the outbox is emptied before its messages are enqueued',
    file: 'runtime/alerts/watch.ts',
    find: '    await enqueue(name, next.outbox)\n    await store.alerts.put({ name, revision: written, rule, state: { ...next, outbox: [] } })\n',
    replace:
      '    await store.alerts.put({ name, revision: written, rule, state: { ...next, outbox: [] } })\n    await enqueue(name, next.outbox)\n',
    test: {
      file: 'packages/jobmill/test/alerts/alerts.test.ts',
      name: 'a message that could not be enqueued',
    },
  },
  {
    name: 'alerts: the end of a problem is sent twice',
    file: 'runtime/alerts/decide.ts',
    find: '    return { ...cause, endedAt: now }',
    replace: '    return cause',
    test: {
      file: 'packages/jobmill/test/alerts/decide.test.ts',
      name: 'the end of a sent problem is sent once',
    },
  },
  {
    name: 'alerts: a rule is written over a change of another process',
    file: 'store-sqlite/alerts/alerts.ts',
    find: '  if ((known?.revision ?? null) !== revision) return null\n',
    replace: '',
    test: {
      file: 'packages/jobmill/test/conformance/sqlite.test.ts',
      name: 'a write under another revision',
    },
  },
]
