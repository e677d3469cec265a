//! The crate `spider`: follows all links and, when the task says so, takes each page's title.
//!
//!     spider-pages task.json
//!
//! The task is what peer-task.ts describes. Prints CPU seconds and peak memory of its process as a line of JSON.

use serde_json::Value;
use spider::tokio;
use spider::website::Website;

#[tokio::main]
async fn main() {
    let file = std::env::args().nth(1).expect("the task's file");
    let text = std::fs::read_to_string(file).expect("a task");
    let task: Value = serde_json::from_str(&text).expect("JSON");
    let seed = task["seeds"][0].as_str().expect("a seed");
    let concurrency = task["concurrency"].as_u64().expect("a number") as usize;
    let mut website = Website::new(seed);
    website
        .with_respect_robots_txt(false)
        .with_delay(0)
        .with_concurrency_limit(Some(concurrency));
    if task["select"].as_bool() == Some(true) {
        crawl_with_titles(&mut website).await;
    } else {
        website.crawl().await;
    }
    report_use();
}

/// Room for pages whose title is not taken yet; beyond it the oldest would be lost.
const PAGES_WAITING_MAX: usize = 65_536;

async fn crawl_with_titles(website: &mut Website) {
    let mut pages = website.subscribe(PAGES_WAITING_MAX);
    let taking = tokio::spawn(async move {
        let mut titles = Vec::new();
        while let Ok(page) = pages.recv().await {
            titles.push(title_of(&page.get_html()));
        }
        titles.len()
    });
    website.crawl().await;
    website.unsubscribe();
    taking.await.expect("titles");
}

fn title_of(html: &str) -> Option<String> {
    let (_, after) = html.split_once("<title>")?;
    let (title, _) = after.split_once("</title>")?;
    Some(title.to_owned())
}

fn report_use() {
    let mut used = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes a whole rusage to the address it is given; zeroes are a valid one if it fails.
    let used = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
        used.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    let rss_mb = used.ru_maxrss as f64 / 1024.0;
    println!("{{\"cpuSeconds\":{cpu_seconds},\"rssMb\":{rss_mb}}}");
}
