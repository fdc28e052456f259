import { decryptedBuildsSuite } from '../../../../test/sops/decrypted-builds.ts'
import { scriptedSops } from '../../../../test/sops/scripted-sops.ts'

const tools = scriptedSops()
decryptedBuildsSuite('what a scripted sops decrypts for a build', () => tools)
