/** An invalid payload stays invalid, so a failed check makes the job dead, with a fix in the message. */
import { isJobmillError } from '../../job/errors.ts'
import { Dead } from '../../job/attempt/thrown.ts'

export async function orDead<T>(check: () => T | Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (isJobmillError(error)) throw new Dead(error.message)
    throw error
  }
}
