/** Faults in the turns and the limits of groups. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`
const FILE_CONTRACT = `${TESTS}/conformance/sqlite.test.ts`

export const GROUPS: readonly TestedMutant[] = [
  {
    name: 'postgres: a group of a fair queue gets as many jobs per turn as a claim has room',
    file: 'store-postgres/schema/functions/groups.ts',
    find: '      allowed := several * (floor(weight * (lap + 1)) - floor(weight * lap)) - taken;',
    replace: '      allowed := room;',
    test: { file: CONTRACT, name: 'P20 groups get equal numbers of jobs' },
  },
  {
    name: 'sqlite: each claim from a fair queue starts with the first group',
    file: 'store-sqlite/groups/fair-claim.ts',
    find: 'turns.get(queueId) ?? FIRST_TURN, {',
    replace: 'FIRST_TURN, {',
    test: { file: FILE_CONTRACT, name: 'P20 groups get equal numbers of jobs' },
  },
  {
    name: 'postgres: the weights of groups are ignored',
    file: 'store-postgres/schema/functions/groups.ts',
    find: 'CASE WHEN has_weights THEN',
    replace: 'CASE WHEN false THEN',
    test: { file: CONTRACT, name: 'P20 a group with a weight of 3' },
  },
  {
    name: 'postgres: stage gives the slots of a group twice',
    file: 'store-postgres/schema/functions/group-limits.ts',
    find: 'ELSE q.concurrency - (SELECT count(*)',
    replace: 'ELSE q.concurrency - 0 * (SELECT count(*)',
    test: { file: CONTRACT, name: 'P20 a group runs as many jobs as its concurrency' },
  },
  {
    name: 'sqlite: stage gives the slots of a group twice',
    file: 'store-sqlite/groups/stage-groups.ts',
    find: 'concurrency - group.running',
    replace: 'concurrency',
    test: { file: FILE_CONTRACT, name: 'P20 a group runs as many jobs as its concurrency' },
  },
  {
    name: 'postgres: a job that waits for its retry keeps the slot of its group',
    file: 'store-postgres/schema/functions/finish-each.ts',
    find: 'WHERE g.state = ${scheduled} AND g.flags & ${HAS_PASSED} <> 0',
    replace: 'WHERE false',
    test: { file: CONTRACT, name: 'P20 every way to stop running frees the slot' },
  },
  {
    name: 'sqlite: a job that waits for its retry keeps the slot of its group',
    file: 'store-sqlite/finish/finish.ts',
    find: '  else leaveGroup(work, job)',
    replace: '',
    test: { file: FILE_CONTRACT, name: 'P20 every way to stop running frees the slot' },
  },
  {
    name: 'postgres: a group without a token starts jobs',
    file: 'store-postgres/schema/functions/group-limits.ts',
    find: '      free := least(free, tokens);',
    replace: '',
    test: { file: CONTRACT, name: 'P20 a rate starts so many jobs of a group per period' },
  },
  {
    name: 'postgres: the ready jobs of a group that is paused start',
    file: 'store-postgres/groups/groups.ts',
    find: '  if (fair && hasLimits) await holdGroup(context, id, group)',
    replace: '',
    test: { file: CONTRACT, name: 'the ready jobs of a group that is paused wait' },
  },
  {
    name: 'postgres: a job of a group with limits is dispatched directly',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: "AND i.group_kind IS DISTINCT FROM 'limited'",
    replace: '',
    test: { file: CONTRACT, name: 'P2 a job whose group has limits is not directly dispatched' },
  },
]
