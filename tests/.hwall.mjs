import { startHostileWeb, HOSTILE_CASES, runProcess } from '@webloom/testkit'
import { readFileSync, writeFileSync, rmSync } from 'node:fs'
const d='/work/main/packages/downloader/testdata/certificates/'
const r=(k,c)=>({key:readFileSync(d+k,'utf8'),cert:readFileSync(d+c,'utf8')})
const certs={valid:r('site.key','site.crt'),expired:r('site.key','expired.crt'),'self-signed':r('site.key','self-signed.crt')}
const [extra,nodeArgs,...skip]=process.argv.slice(2)
const web=await startHostileWeb(certs,HOSTILE_CASES.filter(c=>!skip.includes(c.name)))
writeFileSync('/tmp/h/hwdir/urls.json',JSON.stringify(web.urls.map(u=>u.url)))
rmSync('/tmp/h/hwdir/items.jsonl',{force:true})
const p=await runProcess(process.execPath,[...(nodeArgs?nodeArgs.split(' '):[]),'/work/main/packages/webloom/bin/webloom.js','runspider','spider.ts','-o','items.jsonl','--stats-file','stats.json',...Object.entries({ROBOTSTXT_OBEY:false,DOWNLOAD_VERIFY_CERTIFICATES:true,DOWNLOAD_CA_CERTIFICATES:d+'ca.crt',RETRY_TIMES:1,RETRY_BACKOFF:0.05,DOWNLOAD_TIMEOUT:20,DOWNLOAD_RATE_WINDOW:5,...JSON.parse(extra||'{}')}).flatMap(([k,v])=>['-s',k+'='+v])],{cwd:'/tmp/h/hwdir',timeoutMs:200000})
const stats=JSON.parse(readFileSync('/tmp/h/hwdir/stats.json','utf8'))
const peak=/VmHWM:\s+(\d+)/.exec(readFileSync('/tmp/h/hwdir/memory.txt','utf8'))[1]/1000
const items=new Map(readFileSync('/tmp/h/hwdir/items.jsonl','utf8').trim().split('\n').map(l=>JSON.parse(l)).map(i=>[i.url,i]))
console.log(extra,nodeArgs,'peak',peak,'s',stats.elapsed_time_seconds,'waits',stats['downloader/body_room_waits'])
for(const u of web.urls){const i=items.get(u.url); if(i?.outcome!==u.expected.outcome) console.log(u.case,u.expected.outcome,i?.outcome,i?.message)}
process.stdout.write((p.stdout.match(/.*Mark-Compact.*|.*Scavenge.*MB.*/g)||[]).slice(-0).filter((_, i, a)=>i>a.length-0).join('\n'))
await web[Symbol.asyncDispose]()
