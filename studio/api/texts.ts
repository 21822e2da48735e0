/** The texts of failed calls. The service itself says why it refuses a request. */
export const texts = {
  /** Form fields by their names in the API, at the start of a message: "The title must not be blank." */
  fields: {
    title: 'The title',
    hls_url: 'The HLS playlist URL',
    dash_url: 'The DASH manifest URL',
    name: 'The name',
    email: 'The email',
    currentPassword: 'The current password',
    password: 'The new password',
    url: 'The URL',
  } as Readonly<Record<string, string>>,
  fieldError: (field: string, error: string) => `${field} ${error}`,
  timeout: 'The service did not respond in time. Try again.',
  unreachable: 'The service is unreachable. Check your connection and try again.',
  foreign:
    'Something between this page and the service responded in its place, such as the sign-in page of a network. Check your connection and try again.',
  sessionReplaced: 'You signed in again in another tab. Try again.',
  unexpectedStatus: (status: number) =>
    `The service could not do this (status ${status}). Try again.`,
};
