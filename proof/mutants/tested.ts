/** Faults outside the reach of the simulator. One test must find each. */
import { ACCESS } from './faults/access.ts'
import { ALERTS } from './faults/alerts.ts'
import { ATTEMPTS } from './faults/attempts.ts'
import { AUDIT } from './faults/audit.ts'
import { CONNECTIONS } from './faults/connections.ts'
import { ERROR_GROUPS } from './faults/errors.ts'
import { OVERRIDES } from './faults/overrides.ts'
import { PATCHES } from './faults/patches.ts'
import { PROCESSES } from './faults/processes.ts'
import { RUNTIME } from './faults/runtime.ts'
import { USERS } from './faults/users.ts'
import { ANSWERS } from './faults/stores/answers.ts'
import { BATCHES } from './faults/stores/batches.ts'
import { CLAIMS } from './faults/stores/claims.ts'
import { DATABASE } from './faults/stores/database.ts'
import { FILES } from './faults/stores/files.ts'
import { GROUPS } from './faults/stores/groups.ts'
import { KEYS } from './faults/stores/keys.ts'
import { LEASES } from './faults/stores/leases.ts'
import { OUTCOMES } from './faults/stores/outcomes.ts'
import { REPLACED } from './faults/stores/replaced.ts'
import { CHILDREN } from './faults/stores/children.ts'
import { VERSIONS } from './faults/stores/versions.ts'
import { STEPS } from './faults/stores/steps.ts'
import type { TestedMutant } from './mutant.ts'

export const TESTED: readonly TestedMutant[] = [
  ...ACCESS,
  ...ALERTS,
  ...ATTEMPTS,
  ...AUDIT,
  ...CONNECTIONS,
  ...ERROR_GROUPS,
  ...OVERRIDES,
  ...PATCHES,
  ...PROCESSES,
  ...RUNTIME,
  ...USERS,
  ...ANSWERS,
  ...BATCHES,
  ...CLAIMS,
  ...DATABASE,
  ...FILES,
  ...KEYS,
  ...GROUPS,
  ...LEASES,
  ...OUTCOMES,
  ...REPLACED,
  ...STEPS,
  ...CHILDREN,
  ...VERSIONS,
]
