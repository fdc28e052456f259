/** The contract of every hosted forge, on the real Gitea. */
import { test } from 'node:test'
import { forgeContract } from '../forge/forge-contract.ts'
import { isApiWrite } from './faulty-proxy.ts'
import { createGiteaFixture } from './gitea-fixture.ts'
import { sharedGitea } from './shared-gitea.ts'

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('forge contract: Gitea', { skip: gitea.why }, () => {})
else {
  forgeContract('Gitea', async () => {
    const fixture = await createGiteaFixture(gitea)
    const { proxy, repository, human, writer, reader, told } = fixture
    return {
      repository,
      human,
      told,
      tellsEditors: false,
      people: { writer: writer.name, reader: reader.name },
      openForge: () => fixture.openForge(),
      openDryRunForge: () => fixture.openDryRunForge(),
      writes: () => proxy.requests.filter(isApiWrite).length,
      loseNextAnswer: () => {
        proxy.fault = (request) => {
          if (!isApiWrite(request)) return undefined
          proxy.fault = () => undefined
          return { kind: 'lost' }
        }
      },
      close: async () => {
        await fixture.close()
        await gitea.stop()
      },
    }
  })
}
