/** Variables that are called like ours, and that nobody reads: likely a typo. */
import { nearest } from 'jobmill/cli'
import { type ConfigProblem, type Env, variableOf } from './read-config.ts'
import { NAMES } from './shape.ts'

/** Of the commands that talk to an inbox elsewhere. */
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
        near === undefined ? `Take it away; known are ${ours.join(', ')}` : `Did you mean ${PREFIX}${near}?`
      return { place: name, message: `is set, and nothing reads it. ${fix}` }
    })
}
