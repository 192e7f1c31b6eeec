/** Faults against N1: overrides are listed, survive a deploy, and can be reset. */
import type { TestedMutant } from '../mutant.ts'

const CONTRACT = 'packages/jobmill/test/conformance/postgres.test.ts'

export const OVERRIDES: readonly TestedMutant[] = [
  {
    name: 'postgres: a refused queue leaves the limits of its code behind',
    file: 'store-postgres/limits/limit-settings.ts',
    find: 'declareAll(inside, code, queues))',
    replace: 'declareAll(inside, code, [])).then(() => redeclareQueues(context, queues))',
    test: { file: CONTRACT, name: 'N1 limits and queues that are declared together' },
  },
  {
    name: 'a start with an unknown limit writes its other limits',
    file: 'runtime/declare.ts',
    find: 'store.limits.declare(limits, queues)',
    replace: 'store.limits.declare(limits).then(() => store.queues.declare(queues))',
    test: {
      file: 'packages/jobmill/test/runtime/refused-start.test.ts',
      name: 'N1 a queue names an unknown limit',
    },
  },
  {
    name: 'a deleted schedule is not listed as an override',
    file: 'job/schedule/schedule-sources.ts',
    find: '  if (code === null) return []',
    replace: "  if (code === null || 'deleted' in overrides) return []",
    test: { file: CONTRACT, name: 'deleting a schedule of code is listed with author and time' },
  },
  {
    name: 'a schedule created in place of a deleted one overrides every option',
    file: 'job/schedule/schedule-sources.ts',
    find: 'code === null || named.includes(option) || !isSameValue(code[option], definition[option])',
    replace: 'code === null || named.includes(option) || definition[option] !== undefined',
    test: { file: CONTRACT, name: 'overrides only what was given or differs from code' },
  },
  {
    name: 'an override of a limit applies after code changed the type of the limit',
    file: 'job/limit/limit-sources.ts',
    find: 'return code.type === type || code.type === codeType',
    replace: 'return code.type === type || codeType !== undefined',
    test: { file: CONTRACT, name: 'an override of a limit stops applying when code changes the type' },
  },
  {
    name: 'a process does not report a schedule of its code that has no effect',
    file: 'runtime/diagnose/config-drift.ts',
    find: '        SCHEDULE_KEYS,',
    replace: '        Object.keys(stored.operator),',
    test: {
      file: 'packages/jobmill/test/runtime/drift.test.ts',
      name: 'with a lower version than the stored one',
    },
  },
  {
    name: 'an operator who changes a limit ends the overrides that wait for a rollback',
    file: 'job/limit/limit-sources.ts',
    find: 'isApplied(code, option, one) !== isOther(option)',
    replace: '(isApplied(code, option, one) && !isOther(option))',
    test: { file: CONTRACT, name: 'an override that waits for a rollback survives' },
  },
  {
    name: 'a process that declares what is missing leaves out a queue that a job created',
    file: 'runtime/declare.ts',
    find: '({ ...queue, unlessDeclared: true })',
    replace: '({ ...queue, settings: null })',
    test: {
      file: 'packages/jobmill/test/runtime/overrides.test.ts',
      name: 'N1 D2 a process that only adds missing queues',
    },
  },
  {
    name: 'sqlite: a limit that only the code of a queue uses becomes a limit per key',
    file: 'store-sqlite/limits/limits.ts',
    find: 'if (inCode !== undefined) throw perKeyInCode(name, inCode)',
    replace: "if (inCode === '') throw perKeyInCode(name, inCode)",
    test: { file: 'packages/jobmill/test/conformance/sqlite.test.ts', name: 'cannot become a limit per key' },
  },
  {
    name: 'postgres: a limit that only the code of a queue uses becomes a limit per key',
    file: 'store-postgres/limits/limit-settings.ts',
    find: 'if (inCode !== undefined) throw perKeyInCode(name, inCode)',
    replace: "if (inCode === '') throw perKeyInCode(name, inCode)",
    test: {
      file: 'packages/jobmill/test/conformance/postgres.test.ts',
      name: 'cannot become a limit per key',
    },
  },
]
