/**
 * What the runtime needs beside the foundation: logs of attempts, and the kinds whose deaths an instance wants followed up.
 * In the order in which other statements take these tables, so that a migration beside them does not meet them head on.
 */
import { migration } from '../../store/migrations.ts'

export const runtime = migration(
  2,
  'runtime',
  `
ALTER TABLE jobmill.instance ADD COLUMN on_dead text[] NOT NULL DEFAULT '{}';
ALTER TABLE jobmill.running ADD COLUMN log text;
ALTER TABLE jobmill.attempt ADD COLUMN log text;
`,
)
