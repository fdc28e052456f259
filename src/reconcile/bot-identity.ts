/** Email of the identity that makes our commits; a branch with a commit by anybody else is theirs. */
export interface BotIdentity {
  readonly email: string
}
