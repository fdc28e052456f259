/** Who commits, and how a commit is signed. */
export { BOT } from './commit/bot-identity.ts'
export { describeSigningKey, findCommitSigner } from './commit/commit-signer.ts'
export { signOff } from './commit/sign-off.ts'
