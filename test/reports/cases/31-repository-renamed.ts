/** A repository is renamed, and then moved to an organisation, while a proposal is open. */
import type { ReportCase } from '../lab.ts'
import { asOwner, backporchOn, proposing, say, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'at the old address of a renamed or moved repository it follows, or names the new address; at the new one it goes on',
  before: 'said as renamed, without the new address',
  gitea: true,
  async run(lab) {
    const { fixture } = lab.review
    const { gitea, owner, bot } = fixture
    await proposing(lab)
    await lab.patch('configmap/c', { data: { a: '2' } })
    await scan(lab)
    await asOwner(lab, 'PATCH', '', { name: 'moved' })
    const organisation = gitea.uniqueName('org')
    const places = [
      { name: 'renamed', from: fixture.remote, path: `${owner.name}/moved` },
      {
        name: 'transferred',
        from: fixture.remote.replace(/[^/]+\.git$/, 'moved.git'),
        path: `${organisation}/moved`,
      },
    ]
    for (const [index, { name, from, path }] of places.entries()) {
      if (name === 'transferred') {
        await gitea.request(owner.token, 'POST', '/orgs', { username: organisation })
        await gitea.request(owner.token, 'POST', `/repos/${owner.name}/moved/transfer`, {
          new_owner: organisation,
        })
        await gitea.request(owner.token, 'PUT', `/repos/${path}/collaborators/${bot.name}`, {
          permission: 'admin',
        })
      }
      await lab.patch('configmap/c', { data: { b: `${index + 2}` } })
      const old = await backporchOn(lab, from, 'scan', 'pkg')
      lab.check(`${name}, at the old address`, old.code === 1 || say(old).includes(path), say(old))
      const moved = await backporchOn(
        lab,
        fixture.remote.replace(/[^/]+\/[^/]+\.git$/, `${path}.git`),
        'scan',
        'pkg',
      )
      const { body } = await gitea.request<readonly object[]>(
        bot.token,
        'GET',
        `/repos/${path}/pulls?state=open`,
      )
      lab.check(
        `${name}, at the new one`,
        moved.code === 1 && body.length === 1,
        `${body.length} open · ${say(moved)}`,
      )
    }
  },
}
