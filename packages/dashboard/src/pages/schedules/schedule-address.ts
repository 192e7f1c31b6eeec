/** Encodes the name, which may contain a slash. */
export const scheduleAddress = (name: string): string => `/schedules/${encodeURIComponent(name)}`
