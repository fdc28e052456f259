/** Branch and tag protection: approvals are needed, every branch is protected, and a squash leaves no trailers. */
import type { ReportCase } from '../lab.ts'
import { asOwner, listPulls, onlyOpen, proposing, say, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'each rule of a branch or a tag is said where it stops something, check names it, and a squash without trailers is a decision',
  before: 'right',
  gitea: true,
  async run(lab) {
    await proposing(lab)
    await lab.patch('configmap/c', { data: { a: '2' } })
    await asOwner(lab, 'POST', '/branch_protections', {
      rule_name: 'main',
      required_approvals: 1,
      enable_push: false,
    })
    await scan(lab)
    const approve = await lab.backporch('approve', 'pkg', '--yes')
    lab.check(
      'an approval is needed',
      approve.code !== 0 && /approv/i.test(say(approve)),
      say(approve),
    )

    await asOwner(lab, 'POST', '/branch_protections', { rule_name: '**', enable_push: false })
    await lab.patch('configmap/c', { data: { b: '2' } })
    const stopped = await scan(lab)
    lab.check('every branch is protected', /protect/i.test(say(stopped)), say(stopped))
    const check = await lab.backporch('check')
    lab.check('check', check.code !== 0 && /protect/i.test(say(check)), say(check))

    await asOwner(lab, 'DELETE', `/branch_protections/${encodeURIComponent('**')}`)
    await asOwner(lab, 'DELETE', '/branch_protections/main')
    await scan(lab)
    const { gitea, owner, name, writer, path } = lab.review.fixture
    const rule = { name_pattern: '*', whitelist_usernames: [owner.name] }
    const { body } = await gitea.request<{ readonly id: number }>(
      owner.token,
      'POST',
      `${path}/tag_protections`,
      rule,
    )
    const { number } = await onlyOpen(lab)
    const order = {
      Do: 'squash',
      MergeTitleField: 'a title',
      MergeMessageField: 'text of a person',
    }
    const { status } = await gitea.mergePull(writer, owner.name, name, number, order)
    lab.check('the squash', status === 200, `${status}`)
    const tagless = await scan(lab)
    lab.check(
      'tags are protected',
      tagless.code === 2 && /Tag \S+ is protected/.test(say(tagless)),
      say(tagless),
    )
    const tags = await lab.backporch('check')
    lab.check('check, tags', /✗[^·]*\btags?\b/.test(say(tags)) && tags.code !== 0, say(tags))

    await asOwner(lab, 'DELETE', `/tag_protections/${body.id}`)
    const after = await scan(lab)
    const open = await listPulls(lab, 'open')
    lab.check('no second proposal', open.length === 0, [...open, say(after)])
    const history = await lab.backporch('history', 'pkg')
    lab.check('the decision is kept', history.stdout.includes(writer.name), say(history))
  },
}
