import { decryptedSuite } from '../../../test/sops/decrypted-suite.ts'
import { scriptedSops } from '../../../test/sops/scripted-sops.ts'

const tools = scriptedSops()
decryptedSuite('what a scripted sops decrypts', () => tools)
