import type { Identity } from '../objects/object-format.ts'

/** Author, committer and sign-off of every commit that we write. */
export const BOT: Identity = {
  name: 'backporch[bot]',
  email: 'backporch@users.noreply.backporch.dev',
}
