/** The tools of the agent: two that read, and one with an effect that must not happen twice. */

const FLIGHTS = [
  { flight: 'XY 301', price: 129 },
  { flight: 'XY 447', price: 89 },
]

export interface FakeTools {
  run(name: string, given: Readonly<Record<string, string>>, idempotencyKey: string): unknown
  bookings(): number
}

export function fakeTools(): FakeTools {
  /** By idempotency key: a repeated request returns the first booking. */
  const bookings = new Map<string, { readonly booking: string }>()
  return {
    bookings: () => bookings.size,
    run(name, given, idempotencyKey) {
      if (name === 'search_flights') return FLIGHTS
      if (name === 'get_weather') return { forecast: `24 °C in ${given['city']}` }
      if (name !== 'book_flight') throw new Error(`there is no tool ${name}`)
      const booking = bookings.get(idempotencyKey) ?? { booking: `B-${bookings.size + 1}` }
      bookings.set(idempotencyKey, booking)
      return booking
    },
  }
}
