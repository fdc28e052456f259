export { describeSigningKey, findCommitSigner } from './commit/commit-signer.ts'
export { BOT, signOff } from './commit/sign-off.ts'
