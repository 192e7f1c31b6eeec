/** The user's token: kept for this tab, or on this device when they choose to stay signed in. */
const KEY = 'jobmill.token'

export function token(): string | null {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)
}

export function signIn(given: string, stay: boolean): void {
  signOut()
  const place = stay ? localStorage : sessionStorage
  place.setItem(KEY, given)
}

export function signOut(): void {
  sessionStorage.removeItem(KEY)
  localStorage.removeItem(KEY)
}
