/** Checks the config and the database, and reports all problems. Starts nothing. */
import { isJobmillError, type JobmillError } from 'jobmill'
import { EXIT } from 'jobmill/cli'
import { checkPlace, placeOf } from 'jobmill-tables'
import { type Command, examine } from './command.ts'

export const check: Command = {
  words: 'check',
  says: 'check the config and the database and report all problems; starts and creates nothing',
  async run(given, io) {
    const examined = examine(given, io)
    if (examined === null) return EXIT.usage
    const { config, draft } = examined
    const looked = draft.database === null ? 'none' : await lookAt(draft.database)
    if (config === null) {
      // An invalid address was already reported with the other problems.
      if (isJobmillError(looked) && looked.code !== 'OPTION_INVALID') io.err(`error   ${looked.message}`)
      return EXIT.usage
    }
    // If it is the only problem, a database error has its own exit code.
    if (isJobmillError(looked)) throw looked
    const names = config.bots.map(
      ({ slug, handler, async }) => `${slug} (${handler}${async ? ', async' : ''})`,
    )
    io.out(`ok: ${names.length} ${names.length === 1 ? 'bot' : 'bots'}: ${names.join(', ')}`)
    io.out(`database ${looked}`)
    return EXIT.done
  },
}

/** The database location without a password. */
async function lookAt(address: string): Promise<string | JobmillError> {
  try {
    const place = placeOf(address)
    const { host, pathname } = place.type === 'postgres' ? new URL(place.url) : { host: '', pathname: '' }
    const where = place.type === 'sqlite' ? place.file : `postgres://${host}${pathname}`
    return (await checkPlace(address)) === 'made' ? where : `${where}, created at the first start`
  } catch (error) {
    if (isJobmillError(error)) return error
    throw error
  }
}
