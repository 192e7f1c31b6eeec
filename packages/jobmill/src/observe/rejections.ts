/** Loggers and listeners of the application may return promises, which nothing awaits. */

/** Calls `failed` if the promise is rejected, so that it does not end the process. */
export function whenRejected(returned: unknown, failed: () => void): void {
  if (typeof returned === 'object' && returned !== null && 'then' in returned)
    Promise.resolve(returned).catch(failed)
}
