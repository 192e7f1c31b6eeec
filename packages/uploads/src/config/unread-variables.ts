/** Finds variables with our prefix that the program does not read, which are likely typos. */
import { nearest } from 'jobmill/cli'
import type { ConfigProblem } from './shape.ts'
import { type Env, variableOf } from './read-config.ts'
import { NAMES } from './shape.ts'

/** The variables of the client commands. */
export const CLIENT_VARIABLES = {
  url: 'UPLOADS_URL',
  mailbox: 'UPLOADS_MAILBOX',
  'token-file': 'UPLOADS_TOKEN_FILE',
} as const

const PREFIX = 'UPLOADS_'

export function unreadVariables(env: Env): ConfigProblem[] {
  const known = [
    ...NAMES.filter((name) => name !== 'job').map(variableOf),
    ...Object.values(CLIENT_VARIABLES),
  ]
  const ours = known.filter((name) => name.startsWith(PREFIX))
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && env[name]?.trim() !== '')
    .map((name) => {
      const near = nearest(
        name.slice(PREFIX.length),
        ours.map((one) => one.slice(PREFIX.length)),
      )
      const fix =
        near === undefined ? `Unset it, or use one of ${ours.join(', ')}` : `Did you mean ${PREFIX}${near}?`
      return { place: name, message: `is set, but not used. ${fix}` }
    })
}
