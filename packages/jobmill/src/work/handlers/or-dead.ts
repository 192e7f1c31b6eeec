/** A payload that is wrong stays wrong: when a check refuses it the job is dead, and says what to do. */
import { isJobmillError } from '../../job/errors.ts'
import { Dead } from '../../job/thrown.ts'

export async function orDead<T>(check: () => T | Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (isJobmillError(error)) throw new Dead(error.message)
    throw error
  }
}
