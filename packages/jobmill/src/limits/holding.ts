/**
 * What one holder has of one limit. The database keeps one sum for a holder, and gives it back as a whole: so it goes back when the last one that this process
 * uses, or is asking for, was released.
 */

export interface Holding {
  /** One more is asked for. What is on its way back is waited for: it would take the new one along. */
  readonly begin: () => Promise<void>
  /** Nothing here relies on what the database may have noted for this holder. */
  readonly mayRelease: () => boolean
  readonly granted: () => void
  /** One less: released, or asked for in vain. */
  readonly end: () => Promise<void>
}

/** `isOwn` is false when somebody else relies on the same sum: a claim from a queue that draws on this limit. */
export function holding(release: () => Promise<void>, isOwn: () => boolean): Holding {
  let open = 0
  let isGiven = false
  let goingBack: Promise<void> | null = null

  async function begin(): Promise<void> {
    if (goingBack === null) {
      open += 1
      return
    }
    await goingBack
    // Others may have asked, and given back again, meanwhile.
    await begin()
  }

  return {
    begin,
    mayRelease: () => open === 1 && !isGiven && isOwn(),
    granted() {
      isGiven = true
    },
    async end() {
      open -= 1
      if (open > 0 || !isGiven || !isOwn()) return
      isGiven = false
      goingBack = release().finally(() => {
        goingBack = null
      })
      await goingBack
    },
  }
}
