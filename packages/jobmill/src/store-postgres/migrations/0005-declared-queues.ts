/**
 * Whether somebody has said how a queue is to be: by a declaration that says more than the defaults, or by a change. One that came into being with its first job
 * takes what is declared later. Queues of before count as declared: nobody knows.
 */
import { migration } from '../../store/migrations.ts'

export const declaredQueues = migration(
  5,
  'declared queues',
  'ALTER TABLE jobmill.queue ADD COLUMN declared bool NOT NULL DEFAULT true',
)
