/** Whether the current page was reached with Back or Forward, so that it can restore what it showed. */
let hasReturned = false

// Registered when this module loads, so it runs before the router renders the page.
addEventListener('popstate', () => {
  hasReturned = true
})
// Sent by the router.
addEventListener('pushState', () => {
  hasReturned = false
})

export const cameBack = (): boolean => hasReturned
